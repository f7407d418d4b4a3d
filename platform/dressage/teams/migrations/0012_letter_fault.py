from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0011_external_identities'),
    ]

    operations = [
        migrations.AddField(
            model_name='invitation',
            name='letter_fault',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
    ]
